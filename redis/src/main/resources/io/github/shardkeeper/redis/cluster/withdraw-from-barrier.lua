-- Gives up waiting at a double barrier. Repeatable.
--
-- ARGV     1 session, 2 barrier, 3 ticket, 4 '1' to give up also if all are in, which breaks the round, or '0'
-- result   {'ENTERED', round} if all are in; else {'WITHDRAWN'}
-- keeps    only the ticket's own place is given up
-- cost     O(parties)

writeBeforeWait(GROUP)

local record = barrier(ARGV[2])
if not record or record.unreadable then
  return {'WITHDRAWN'}
end
local party, index = partyOf(record, ARGV[1])
if not party or party.ticket ~= ARGV[3] then
  return {'WITHDRAWN'}
end
if record.phase ~= 'E' and ARGV[4] ~= '1' then
  return {'ENTERED', record.round}
end
if party.state == 'I' then
  withdrawParty(ARGV[2], record, index)
end
return {'WITHDRAWN'}
