-- Beginning of acquire-lock.lua, before cluster.lua and locks.lua: acquires a lock that is free and that nobody waits
-- for. All other cases are left to what follows; nothing was written then. Each call of a script creates its functions
-- again, which would take as long as the commands here: so this has none, and repeats what hasLease, nextToken and grant
-- do.
--
-- keeps    it writes before it returns, so that a WAIT that follows has something to wait for
-- cost     O(log waiters)

do
  local group, name, session, least, most = KEYS[1], ARGV[2], ARGV[1], ARGV[4], ARGV[5]
  local time = redis.call('TIME')
  local micros = string.format('%06d', time[2])
  local nowMillis = time[1] .. string.sub(micros, 1, 3)
  local leaseEnd = redis.call('ZSCORE', KEYS[3], session)
  if leaseEnd and tonumber(leaseEnd) > tonumber(nowMillis) then
    local claims, last = unpack(redis.call('HMGET', group, 'claims', 'token'))
    local waiter = redis.call('ZRANGEBYLEX', KEYS[5], '[' .. name .. '|', '(' .. name .. '}', 'LIMIT', 0, 1)[1]
    if (not claims or claims == '0') and not waiter then
      local token = time[1] .. micros
      last = tonumber(last or '0') or 0
      if tonumber(token) <= last then
        token = string.format('%.0f', last + 1)
      end
      local notBefore = least == '0' and nowMillis or string.format('%.0f', nowMillis + least)
      local freeAt = most == '0' and '0' or string.format('%.0f', nowMillis + most)
      local value = session .. '|' .. ARGV[3] .. '|' .. token .. '|' .. nowMillis .. '|' .. notBefore .. '|' .. freeAt
      -- 0 if somebody has the lock; an error at `maxmemory`, where acquire-lock.lua knows what to do.
      if redis.pcall('HSETNX', KEYS[4], name, value) == 1 then
        redis.call('HSET', group, 'token', token)
        return {'GRANTED', token, most == '0' and '-1' or most}
      end
    end
  end
end

