//! The keys, in words.

/// Of the line at the foot of the overview.
pub(super) const OVERVIEW_KEYS: &str =
    "q quit  ? help  Enter open  s sort  r reverse  / filter  l only with lag  p pause  space look now";
/// Of the line at the foot of a group.
pub(super) const GROUP_KEYS: &str =
    "q quit  ? help  Esc back  s sort  r reverse  / filter  p pause  space look now";
/// Of the line at the foot while a filter is typed.
pub(super) const FILTER_KEYS: &str = "Enter keep  Esc clear";

/// The page of all keys. It fits on a terminal of 80 columns and 24 lines; where lines are cut off, they are the last ones.
pub(super) const PAGE: &str = "\
The keys; any of them goes back from here.

Up Down k j            one row up or down
PageUp PageDown        one page
Home End g G           the first row, the last row
Enter                  open the group: its partitions, and who reads them
Esc                    back: from the filter, from the group, from the program
s                      sort by the next column
S r                    sort the other way round
/                      filter by text, as you type
l                      only groups with lag, or all
p                      pause, go on
space R                look now
q Ctrl-C               quit; Ctrl-Z suspends

A dash is a number that nobody knows; 0 is a number. Rates are records a second
over the last 15 to 30 seconds, and CATCH-UP is lag / (consumed - produced):
even                   nothing is left to read
keeps up               less than ten seconds behind, about as fast as the logs
never at this rate     it reads no faster than the logs grow
never                  partitions for which nothing was committed
beyond end             the commit lies behind the end of the log: it was cut,
                       or the topic was deleted and made anew";
