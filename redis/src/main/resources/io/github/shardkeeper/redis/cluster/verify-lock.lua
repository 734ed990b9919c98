-- Returns whether a ticket holds a lock: '1' or '0'.
--
-- ARGV     1 session, 2 lock, 3 ticket
-- cost     O(1)

local record = lock(ARGV[2])
return record and record.ticket == ARGV[3] and record.session == ARGV[1] and '1' or '0'
