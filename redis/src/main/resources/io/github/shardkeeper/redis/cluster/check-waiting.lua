-- Gives locks to the first that wait for them, if they are free: a message may have been lost.
--
-- ARGV     per ticket that waits: lock, ticket
-- result   the tickets that have to ask again: they hold their lock, have held it, or were lost, or others have written
--          the lock's entry
-- cost     O(tickets * log waiters)

writeBeforeWait(GROUP)

local others, done, unreadable = {}, {}, {}
for i = 1, #ARGV, 2 do
  local name, ticket = ARGV[i], ARGV[i + 1]
  if not done[name] then
    done[name] = true
    local record = lock(name)
    if record and record.unreadable then
      unreadable[name] = true
    else
      grantNext(name, record)
    end
  end
  if unreadable[name] or not isWaiting(ticket) then
    others[#others + 1] = ticket
  end
end
return others
