-- Raises a shard's fence and reads its checkpoint in one step. Of a large state it reads the first page only: no other
-- member can change the state any more, and read-state-page.lua reads the rest.
--
-- ARGV     1 token; under 0 nothing is raised or written, 2 'reads' what is there, 'writes back' what the caller has in
--          memory, or 'carries back' what it has in the database, 3 'state', or 'no state' for an owner that reads entries
--          when it uses them
-- result   {'ACQUIRED', fence, number of the last commit, offset or '', ahead or '', millis until the first retry is
--          due or '', number of the state's entries, cursor, {key, value, …}, pending seek or '', number of the last
--          seek that was carried out or '', what was before the fence or '', `acquired` or '0', {field, value, …} of the
--          sequences, number of records in the outbox}; {'REFUSED', fence}; or, if the caller reads, {'ELSEWHERE'}:
--          the database has the checkpoint, and nothing is written; {'HERE'} if the caller carries back what is here already; an error, and nothing is written, if the caller
--          reads, and entries of the state, the timers, the retry queue or the outbox are missing
-- keeps    the fence never falls; nobody consumes from a part of the data, or from what it was before it was carried into
--          the database. A seek that removes the state does without either
-- memory   accepted at `maxmemory`: a hash per shard
-- cost     O(a page of the state + targets); without the state O(targets)

writeBeforeWait(ARGV[1] ~= '0' and CHECKPOINT)

-- Returns an error if a part of the data is missing, otherwise nil. What a pending seek removes need not be there.
local function missingParts()
  local seek = redis.call('HGET', CHECKPOINT, 'seek')
  local removed = seek and clearsState(seek)
  if redis.call('HEXISTS', CHECKPOINT, 'fence') == 1 then
    return not removed and (missingEntries('state') or missingEntries('timers')) or missingEntries('retry') or
      missingEntries('outbox')
  end
  local there = countEntries()
  if not removed and there.state + there.timers + there.retry + there.outbox > 0 then
    return redis.error_reply('ERR the key ' .. CHECKPOINT .. ' is missing, without which ' .. STATE .. ', ' .. TIMERS ..
      ', ' .. RETRY .. ' and ' .. OUTBOX .. ' belong to no offset, because Redis has evicted it or somebody has removed ' ..
      'it, so the shard is not consumed; restore it, or remove the others with DEL')
  end
end

local tooLong = checkLengths()
if tooLong then
  return tooLong
end
local fence = tonumber(redis.call('HGET', CHECKPOINT, 'fence') or '0')
if fence > tonumber(ARGV[1]) then
  return {'REFUSED', text(fence)}
end
if ARGV[2] == 'carries back' and redis.call('HEXISTS', CHECKPOINT, 'elsewhere') == 0 then
  return {'HERE'}
end
if ARGV[1] ~= '0' and ARGV[2] == 'reads' then
  if redis.call('HEXISTS', CHECKPOINT, 'elsewhere') == 1 then
    local seek = redis.call('HGET', CHECKPOINT, 'seek')
    if not seek or not clearsState(seek) then
      return {'ELSEWHERE'}
    end
  end
  local missing = missingParts()
  if missing then
    return missing
  end
  redis.call('HDEL', CHECKPOINT, 'elsewhere')
end
if fence < tonumber(ARGV[1]) then
  raiseFence(ARGV[1], fence)
  redis.call('HDEL', CHECKPOINT, 'copy', 'copied')
end
if ARGV[1] ~= '0' and ARGV[3] == 'no state' then
  redis.call('HSET', CHECKPOINT, 'reads', 1)
elseif ARGV[1] ~= '0' then
  redis.call('HDEL', CHECKPOINT, 'reads')
end
local reply = {'ACQUIRED', unpack(readCheckpoint(ARGV[3] == 'state'))}
reply[#reply + 1] = redis.call('HGET', CHECKPOINT, 'acquired') or '0'
reply[#reply + 1] = redis.call('HGETALL', SEQUENCES)
reply[#reply + 1] = text(redis.call('XLEN', OUTBOX))
return reply
