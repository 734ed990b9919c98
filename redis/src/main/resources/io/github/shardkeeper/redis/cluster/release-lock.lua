-- Releases a lock, or stops waiting for it, and gives it to the first that waits. Repeatable.
--
-- ARGV     1 session, 2 lock, 3 ticket
-- result   'RELEASED', 'NOT_HELD' if the ticket did not hold it, or 'UNREADABLE'
-- keeps    only its holder releases a lock
-- cost     O(log waiters)

writeBeforeWait(GROUP)

local session, name, ticket = ARGV[1], ARGV[2], ARGV[3]
local record = lock(name)
if record and record.unreadable then
  return 'UNREADABLE'
end
local held = record and record.ticket == ticket and record.session == session
if held then
  record = free(name, record)
else
  forgetTicket(ticket)
end
grantNext(name, record)
return held and 'RELEASED' or 'NOT_HELD'
