-- Beginning of release-lock.lua, before cluster.lua and locks.lua: releases a lock that nobody waits for and that has no
-- least time to be held. All other cases are left to what follows. Without functions, like acquire-free-lock.lua.
--
-- keeps    it writes before it returns, so that a WAIT that follows has something to wait for
-- cost     O(log waiters)

do
  local locks, name, holder = KEYS[4], ARGV[2], ARGV[1] .. '|' .. ARGV[3] .. '|'
  local value = redis.call('HGET', locks, name)
  if value and string.sub(value, 1, #holder) == holder then
    local since, notBefore = string.match(value, '^%d+|(%d+)|(%d+)|%d+$', #holder + 1)
    if since and since == notBefore then
      local waiter = redis.call('ZRANGEBYLEX', KEYS[5], '[' .. name .. '|', '(' .. name .. '}', 'LIMIT', 0, 1)[1]
      if not waiter then
        redis.call('HDEL', locks, name)
        return 'RELEASED'
      end
    end
  end
end

