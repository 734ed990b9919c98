-- Raises a shard's fence and reads its checkpoint in one step. Of a large state it reads the first page only: no other
-- member can change the state any more, and read-state-page.lua reads the rest.
--
-- ARGV     1 token; under 0 nothing is raised or written
-- result   {'ACQUIRED', fence, number of the last commit, offset or '', ahead or '', millis until the first retry is
--          due or '', number of the state's entries, cursor, {key, value, …}, pending seek or '', number of the last
--          seek that was carried out or '', what was before the fence or '', `acquired` or '0', {field, value, …} of the
--          sequences, number of records in the outbox}; or {'REFUSED', fence}
-- keeps    the fence never falls
-- memory   accepted at `maxmemory`: a hash per shard
-- cost     O(a page of the state + targets)

writeBeforeWait(ARGV[1] ~= '0' and CHECKPOINT)

local tooLong = checkLengths()
if tooLong then
  return tooLong
end
local fence = tonumber(redis.call('HGET', CHECKPOINT, 'fence') or '0')
if fence > tonumber(ARGV[1]) then
  return {'REFUSED', text(fence)}
end
if fence < tonumber(ARGV[1]) then
  -- Commits are numbered from 1 under every token.
  local last = redis.call('HGET', CHECKPOINT, 'commit') or '0'
  redis.call('HSET', CHECKPOINT, 'fence', ARGV[1], 'commit', 0, 'acquired', text(nowMillis), 'before',
    ARGV[1] .. ' ' .. text(fence) .. ' ' .. last)
  redis.call('HDEL', CHECKPOINT, 'completed', 'copy')
end
local reply = {'ACQUIRED', unpack(readCheckpoint())}
reply[#reply + 1] = redis.call('HGET', CHECKPOINT, 'acquired') or '0'
reply[#reply + 1] = redis.call('HGETALL', SEQUENCES)
reply[#reply + 1] = text(redis.call('XLEN', OUTBOX))
return reply
