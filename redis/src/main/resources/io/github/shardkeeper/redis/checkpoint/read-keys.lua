-- Reads the next page of a state's keys for the shard's owner. Writes nothing.
--
-- ARGV     1 token, 2 number of the last answered commit under it, 0 for none, 3 acquisition that it is based on, 0 for
--          none, 4 number of the last commit when the first page was read, '' for the first page, 5 cursor, '0' to begin,
--          'whole' to read all keys at once, 6 time (millis)
-- result   {number of the last commit, number of the state's entries, next cursor, {key, …} of values that have not expired,
--          {key, …} of the others}; {} if the state is not the one that the owner's commits have made, as in
--          read-entries.lua; {'CHANGED'} if it was committed since the first page
-- keeps    all pages are of one state. A key may occur twice, and a cursor is invalid in another process of Redis, after
--          a failover or a move of the slot: the reader counts the keys
-- cost     O(a page of the state), or O(entries of the state)

if not isStateOf(ARGV[1], ARGV[2], ARGV[3]) then
  return {}
end
local commit = redis.call('HGET', CHECKPOINT, 'commit') or '0'
if ARGV[4] ~= '' and ARGV[4] ~= commit then
  return {'CHANGED'}
end
local entries = text(redis.call('HLEN', STATE))
local page = ARGV[5] == 'whole' and {'0', redis.call('HGETALL', STATE)} or statePage(ARGV[5])
local present, expired = {}, {}
for i = 1, #page[2], 2 do
  -- As in ExpiringValues.
  local expires = string.match(page[2][i + 1], '^@(%d+) ')
  local keys = expires and tonumber(expires) <= tonumber(ARGV[6]) and expired or present
  keys[#keys + 1] = page[2][i]
end
return {commit, entries, page[1], present, expired}
