-- Common beginning of every script; LuaScript puts it before each of them.
--
-- At `maxmemory` Redis refuses commands that may need memory ("OOM command not allowed ..."; those that COMMAND INFO
-- flags `denyoom`: HSET, ZADD, SADD, SET, XADD), inside a script only until its first write. Commands that need none
-- (HDEL, SREM, ZREM, XTRIM, XDEL) are always accepted, and count as a write also when they remove nothing.
--
-- Each call in a script names its command and has a line of its own: when Redis refuses it for a missing right, it
-- reports only the line (MissingRight).

-- Makes Redis accept all further writes of the script, also at `maxmemory`. Only for scripts without which nobody would
-- consume, and so nothing would free memory, and whose growth is bounded: Redis would not bound it.
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

-- Returns a text for a reply. In place of one that is longer than anything that is written here, and so is from others,
-- it returns words that nobody can read as such a text: it must not fill the memory of those who ask. O(1)
--
-- most     bytes
local function bounded(value, most)
  return #value <= most and value or '(' .. #value .. ' bytes: too long)'
end

-- Returns the beginning of a text that only others can have written, for people.
local function beginning(value)
  return #value <= 200 and value or string.sub(value, 1, 200) .. '... (' .. #value .. ' bytes)'
end

-- Comes first in every script that is followed by a WAIT. WAIT counts the writes of its own connection (from Redis 7.2
-- on nothing else), but a repeated script may find all done, on a connection that was lost before any replica had it.
-- So this writes something that leaves no trace, also at `maxmemory`. O(1)
--
-- hash     the key of a hash, which need not exist; it has no field with an empty name; false if no WAIT follows
local function writeBeforeWait(hash)
  if hash then
    writeAtMaxmemory('HDEL', hash)
    redis.call('HSET', hash, '', '')
    redis.call('HDEL', hash, '')
  end
end

-- Returns whether a reply of redis.pcall reports missing memory. Nothing was written then.
local function lacksMemory(reply)
  return type(reply) == 'table' and reply.err ~= nil and string.find(reply.err, 'OOM command', 1, true) ~= nil
end

-- Returns the bytes by which a script may let Redis grow at `maxmemory`: up to a twentieth above it, at least 16 MB,
-- but at most 2 MB at once. 256, for numbers that become longer, if no room is left or the right to INFO is missing.
-- O(1), some microseconds
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

