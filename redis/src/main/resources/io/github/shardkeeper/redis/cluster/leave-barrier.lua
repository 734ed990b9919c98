-- Leaves a round of a double barrier, or asks whether all have left. Repeatable.
--
-- ARGV     1 session, 2 barrier, 3 ticket, 4 round
-- result   {'OVER'} if all have left; {'WAITING', parties that have left, number of parties}; {'BROKEN', sessions that are
--          missing, with commas}; {'LOST'} if the round, or the ticket's place in it, is unknown; {'PAUSED', time after
--          which to ask again (millis)} if the session is unknown; {'UNREADABLE', value} if others have written the entry
-- keeps    a round is over only if each of its parties has left
-- cost     O(parties)

writeBeforeWait(GROUP)

local session, name, ticket, round = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ended = redis.call('HGET', BARRIER_ENDS, name .. '|' .. round)
if ended then
  local missing = string.match(ended, '^broken|(.*)$')
  return missing and {'BROKEN', missing} or {'OVER'}
end
if not isMember(session) then
  return {'PAUSED', '100'}
end
local record = barrier(name)
if not record then
  return {'LOST'}
end
if record.unreadable then
  return {'UNREADABLE', record.unreadable}
end
local party, index = partyOf(record, session)
if not party or party.ticket ~= ticket then
  return {'LOST'}
end
if record.round ~= round then
  -- What others see of it is older than the round.
  withdrawParty(name, record, index)
  return {'LOST'}
end
if party.state == 'I' then
  party.state = 'L'
  saveBarrier(name, record)
end
if record.phase == 'B' then
  return {'BROKEN', record.missing}
end
local left = leftCount(record)
if left == #record.parties then
  return {'OVER'}
end
return {'WAITING', text(left), text(record.size)}
