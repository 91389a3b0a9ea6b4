"""REEMBED FLOW: enter → fill → compact → index → switch, while searches and uploads go on."""
