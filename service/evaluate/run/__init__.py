"""Taking a data set in and asking its questions, through the flows that users go through."""
