-- Since when a group consumes a topic: now, if nobody has asked before.
--
-- KEYS     1 millis of Redis' time, as text
-- result   that time
-- keeps    it is set once and never changes
-- cost     O(1)

local since = redis.call('GET', KEYS[1])
if not since then
  local time = redis.call('TIME')
  since = time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000))
end
-- Also where it stands already: a WAIT that follows counts only what was written on its own connection.
redis.call('SET', KEYS[1], since)
return since
