printf -- '\342\200\256a' > name
