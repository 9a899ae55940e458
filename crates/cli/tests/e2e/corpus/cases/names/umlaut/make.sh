printf -- '\303\244' > name
