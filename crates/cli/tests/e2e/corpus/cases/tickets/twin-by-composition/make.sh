ticket t-1
ticket "$(printf 'caf\303\251')"
ticket "$(printf 'cafe\314\201')"
