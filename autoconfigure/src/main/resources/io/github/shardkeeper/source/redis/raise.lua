-- Gives a topic more shards.
-- KEYS[1]  the topic's hash
-- ARGV[1]  how many shards it is to have
-- Returns how many it has now: more than asked for, if it had more before.
-- The number never becomes lower. O(1).
local now = tonumber(redis.call('HGET', KEYS[1], 'shards') or '0')
local wanted = tonumber(ARGV[1])
if wanted > now then
  redis.call('HSET', KEYS[1], 'shards', ARGV[1])
  return wanted
end
return now
