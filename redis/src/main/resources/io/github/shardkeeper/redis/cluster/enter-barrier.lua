-- Enters a double barrier, or asks whether all are in. Repeatable with the same ticket.
--
-- KEYS     4 :cluster  hash  see read-view.lua; its `view` is compared
-- ARGV     1 session, 2 barrier, 3 ticket, 4 number of parties, 5 number of the view that all must have, or 0
-- result   {'ENTERED', round}; {'WAITING', parties that are in, number of parties}; {'BUSY', parties of another round that
--          have left, their number}; {'PAUSED', time after which to ask again (millis)} if the session is unknown, has no
--          lease, or members may still claim what they held; {'VIEW_CHANGED', number of the group's view};
--          {'OTHER_PARTIES', number of parties of those who wait, their view or 0}; {'UNREADABLE', value} if others have
--          written the barrier's entry
-- keeps    a round is full when as many members of the group are in as it has parties; nobody enters it later
-- cost     O(parties)

writeBeforeWait(GROUP)

local session, name, ticket, size, view = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
if not hasLease(session) then
  return {'PAUSED', '100'}
end
local record = barrier(name)
if record and record.unreadable then
  return {'UNREADABLE', record.unreadable}
end
local party, index
if record then
  party, index = partyOf(record, session)
end
local known = party and party.ticket == ticket
if known and record.phase ~= 'E' then
  return {'ENTERED', record.round}
end
if isInClaimPeriod() then
  return {'PAUSED', '100'}
end
local current = redis.call('HGET', KEYS[4], 'view') or '0'
if record and record.phase == 'E' and record.view ~= '0' and record.view ~= current then
  endForNewView(name, record)
  record, party, known = nil, nil, false
end
if view ~= '0' and view ~= current then
  return {'VIEW_CHANGED', current}
end
if party and not known and ticketNumber(ticket) < ticketNumber(party.ticket) then
  -- Nobody waits for this question any more: it was on its way while its session has entered again.
  return {'BUSY', text(leftCount(record)), text(record.size)}
end
if record and record.phase ~= 'E' then
  if party and party.state == 'I' then
    -- Given up, but a question of it has come later, and the round has begun with it.
    withdrawParty(name, record, index)
  end
  return {'BUSY', text(leftCount(record)), text(record.size)}
end
if party and not known then
  -- Given up, and the store has not heard of it yet.
  removeParty(record, index)
end
if record and (record.size ~= size or record.view ~= view) then
  removeGoneParties(record)
  saveBarrier(name, record)
  if #record.parties > 0 then
    return {'OTHER_PARTIES', text(record.size), record.view}
  end
  record = nil
end
record = record or {phase = 'E', round = '0', size = size, view = view, missing = '', parties = {}}
if not known then
  record.parties[#record.parties + 1] = {session = session, ticket = ticket, state = 'I'}
end
if #record.parties >= size then
  removeGoneParties(record)
end
if #record.parties >= size then
  record.phase = 'R'
  record.round = nextToken()
  saveBarrier(name, record)
  tellBarrier(name, record, 'full')
  return {'ENTERED', record.round}
end
saveBarrier(name, record)
return {'WAITING', text(#record.parties), text(size)}
