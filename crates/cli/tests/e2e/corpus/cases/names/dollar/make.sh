printf -- 'a\044\050id\051' > name
