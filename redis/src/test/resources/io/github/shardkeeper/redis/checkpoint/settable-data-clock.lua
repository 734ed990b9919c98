-- For tests, between data.lua and a script: the time is what the test has set for the group, in microseconds.
nowMillis = math.floor(tonumber(redis.call('GET', 'clock:' .. string.match(KEYS[1], '^(.-{[^/]*)/') .. '}')) / 1000)
