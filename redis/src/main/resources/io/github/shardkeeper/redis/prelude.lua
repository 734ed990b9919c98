-- Common beginning of every script; LuaScript puts it before each of them.
--
-- Redis refuses a command that may need memory once `maxmemory` is reached ("OOM command not allowed ..."; those that
-- COMMAND INFO flags `denyoom`: HSET, ZADD, SADD, SET, XADD), inside a script only as long as the script has written
-- nothing. Commands that cannot need any (HDEL, SREM, ZREM, XTRIM, XDEL) are always let through, and count as a write,
-- also when they remove nothing.
--
-- Each call of a script names its command, and has a line of its own: when Redis refuses one for a missing right, it
-- tells nothing but the line (MissingRight).

-- Lets all further writes of the script through, also at `maxmemory`. For scripts without which nobody would consume,
-- and so nothing would ever free memory, and whose growth is bounded: what may grow without bound must not be let
-- through, because nothing else keeps Redis from growing beyond the memory that there is.
-- Called before the script's first write. Changes nothing, and nothing goes to replicas. O(1)
--
-- remove   'HDEL', 'SREM' or 'ZREM', by the type of the key
-- key      one of the script's keys, which need not exist; it has no entry with an empty name
local function writeAtMaxmemory(remove, key)
  if remove == 'HDEL' then
    redis.call('HDEL', key, '')
  elseif remove == 'SREM' then
    redis.call('SREM', key, '')
  else
    redis.call('ZREM', key, '')
  end
end

-- For every script that is followed by a WAIT, before anything else. WAIT counts what its own connection has written
-- (from Redis 7.2 on nothing else), but a script that is repeated may find all done: by itself, on a connection that was
-- lost before any replica had it. So it writes something that leaves no trace. Also at `maxmemory`, as above. O(1)
--
-- hash     the key of a hash, which need not exist; it has no field with an empty name
local function writeBeforeWait(hash)
  writeAtMaxmemory('HDEL', hash)
  redis.call('HSET', hash, '', '')
  redis.call('HDEL', hash, '')
end

-- Whether a reply of redis.pcall says that memory is missing. Nothing was written then.
local function lacksMemory(reply)
  return type(reply) == 'table' and reply.err ~= nil and string.find(reply.err, 'OOM command', 1, true) ~= nil
end

-- By how many bytes a script may let Redis grow at `maxmemory`: up to a twentieth above it, at least 16 MB, but by no
-- more than 2 MB at once. 256, for numbers that become longer, where there is no room left or nobody can tell, for want of
-- the right to INFO. O(1), some microseconds
local function roomAtMaxmemory()
  local info = redis.pcall('INFO', 'memory')
  if type(info) ~= 'string' then
    return 256
  end
  local function figure(name)
    return tonumber(string.match(info, '\n' .. name .. ':(%d+)') or '0')
  end
  local limit = figure('maxmemory')
  local counted = figure('used_memory') - figure('mem_not_counted_for_evict')
  return math.max(256, math.min(2000000, limit + math.max(limit / 20, 16000000) - counted))
end

