-- Raises a shard's fence and reads its checkpoint in one step.
--
-- ARGV     1 token
-- result   {'ACQUIRED', offset or '', ahead or '', millis until the first retry is due or '', {key, value, …},
--          pending seek or '', number of the one that was carried out last or ''} or {'REFUSED', fence}
-- keeps    the fence never falls
-- cost     O(entries of the state)

local fence = tonumber(redis.call('HGET', CHECKPOINT, 'fence') or '0')
if fence > tonumber(ARGV[1]) then
  return {'REFUSED', text(fence)}
end
if fence < tonumber(ARGV[1]) then
  -- Commits are numbered anew under every token.
  redis.call('HSET', CHECKPOINT, 'fence', ARGV[1], 'commit', 0)
  redis.call('HDEL', CHECKPOINT, 'completed')
else
  -- Changes nothing, but a WAIT that follows is promised to count only what was written on its own connection, and
  -- the fence may have been raised on another one that was lost before any replica had it.
  redis.call('HSET', CHECKPOINT, 'fence', ARGV[1])
end
local position = redis.call('HMGET', CHECKPOINT, 'offset', 'ahead', 'seek', 'sought')
return {'ACQUIRED', position[1] or '', position[2] or '', dueIn(0), redis.call('HGETALL', STATE), position[3] or '',
  position[4] or ''}
