-- Raises a shard's fence and reads its checkpoint in one step.
--
-- KEYS     1 checkpoint hash (fence, commit, offset, committed), 2 state hash
-- ARGV     1 token
-- result   {'ACQUIRED', offset or '', {key, value, …}} or {'REFUSED', fence}
-- keeps    the fence never falls
-- cost     O(entries of the state)

local fence = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
if fence > tonumber(ARGV[1]) then
  return {'REFUSED', string.format('%.0f', fence)}
end
if fence < tonumber(ARGV[1]) then
  -- Commits are numbered anew under every token.
  redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'commit', 0)
else
  -- Changes nothing, but a WAIT that follows is promised to count only what was written on its own connection, and
  -- the fence may have been raised on another one that was lost before any replica had it.
  redis.call('HSET', KEYS[1], 'fence', ARGV[1])
end
return {'ACQUIRED', redis.call('HGET', KEYS[1], 'offset') or '', redis.call('HGETALL', KEYS[2])}
