-- For tests, between data.lua and a script: the time is what the test has set for the group, in microseconds.
nowMillis = math.floor(tonumber(redis.call('GET', 'clock:' .. string.match(KEYS[1], '^(.-{[^/]*)/') .. '}')) / 1000)
-- Ids of letters are by that time, too.
local server = redis
local redis = setmetatable({call = function(...)
  local arguments = {...}
  if arguments[1] == 'XADD' and arguments[3] == '*' then
    local millis, number = nowMillis, 0
    local stream = server.call('EXISTS', arguments[2]) == 1 and server.call('XINFO', 'STREAM', arguments[2]) or {}
    for i = 1, #stream, 2 do
      if stream[i] == 'last-generated-id' then
        local lastMillis, last = string.match(stream[i + 1], '^(%d+)%-(%d+)$')
        if tonumber(lastMillis) >= millis then
          millis, number = tonumber(lastMillis), tonumber(last) + 1
        end
      end
    end
    arguments[3] = text(millis) .. '-' .. text(number)
  end
  return server.call(unpack(arguments))
end}, {__index = server})
