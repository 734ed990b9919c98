-- Releases a lock, or stops waiting for it, and gives it to the first that waits. Repeatable.
--
-- ARGV     1 session, 2 lock, 3 ticket; '' only gives it to the first that waits, if it is free
-- result   {'RELEASED', 'NOT_HELD' if the ticket did not hold it, or 'UNREADABLE'; the ticket that holds it now, or ''}
-- keeps    only its holder releases a lock
-- cost     O(log waiters)

writeBeforeWait(GROUP)

local session, name, ticket = ARGV[1], ARGV[2], ARGV[3]
local record = lock(name)
if record and record.unreadable then
  return {'UNREADABLE', ''}
end
local held = record and ticket ~= '' and record.ticket == ticket and record.session == session
if held then
  record = free(name, record)
elseif ticket ~= '' then
  forgetTicket(ticket)
end
local holder = grantNext(name, record)
return {held and 'RELEASED' or 'NOT_HELD', holder}
