-- For tests, between control.lua and a script: the time is what the test has set, in microseconds.
nowMicros = tonumber(redis.call('GET', 'clock:' .. base))
nowMillis = math.floor(nowMicros / 1000)
