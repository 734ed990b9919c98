-- Gives locks to the first that wait for them, if they are free: a message may have been lost.
--
-- ARGV     per ticket that waits: lock, ticket
-- result   the tickets that do not wait, because they hold their lock, have held it, or were lost
-- cost     O(tickets * log waiters)

writeBeforeWait(GROUP)

local others, done = {}, {}
for i = 1, #ARGV, 2 do
  local name, ticket = ARGV[i], ARGV[i + 1]
  if not done[name] then
    done[name] = true
    local record = lock(name)
    if not record or not record.unreadable then
      grantNext(name, record)
    end
  end
  if redis.call('HEXISTS', TICKETS, ticket) == 0 then
    others[#others + 1] = ticket
  end
end
return others
