-- Raises a shard's fence and reads its checkpoint in one step, but of a large state only the first page: after it
-- nobody else can change the state, and read-state-page.lua reads on.
--
-- ARGV     1 token
-- result   {'ACQUIRED', fence, number of the last commit, offset or '', ahead or '', millis until the first retry is
--          due or '', entries of the state, cursor, {key, value, …}, pending seek or '', number of the seek that was
--          carried out last or '', what was before the fence or '', which acquisition it is or '0'} or {'REFUSED', fence}
-- keeps    the fence never falls
-- memory   gets through at `maxmemory`: a hash per shard
-- cost     O(a page of the state)

writeBeforeWait(CHECKPOINT)

local fence = tonumber(redis.call('HGET', CHECKPOINT, 'fence') or '0')
if fence > tonumber(ARGV[1]) then
  return {'REFUSED', text(fence)}
end
if fence < tonumber(ARGV[1]) then
  -- Commits are numbered anew under every token.
  local last = redis.call('HGET', CHECKPOINT, 'commit') or '0'
  redis.call('HSET', CHECKPOINT, 'fence', ARGV[1], 'commit', 0, 'acquired', text(nowMillis), 'before',
    ARGV[1] .. ' ' .. text(fence) .. ' ' .. last)
  redis.call('HDEL', CHECKPOINT, 'completed')
end
local reply = {'ACQUIRED', unpack(readCheckpoint())}
reply[#reply + 1] = redis.call('HGET', CHECKPOINT, 'acquired') or '0'
return reply
