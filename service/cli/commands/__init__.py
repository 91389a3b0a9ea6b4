"""The commands of ``fuzi``, one module a subject; heavy parts are imported inside the functions that need them."""
