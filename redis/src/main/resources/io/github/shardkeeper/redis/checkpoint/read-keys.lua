-- Reads the next page of a state's keys for the shard's owner. Writes nothing.
--
-- ARGV     1 token, 2 number of the last answered commit under it, 0 for none, 3 acquisition that it is based on, 0 for
--          none, 4 cursor, '0' to begin, 5 prefix of the keys, 6 time (millis)
-- result   {process of Redis, next cursor, '0' after the last page, {key with the prefix, …} of values that have not
--          expired, {key with the prefix, …} of the others}; {} if the state is not the one that the owner's commits have
--          made, as in read-entries.lua; an error if Redis does not name its process
-- keeps    all pages of one process have each key that was there from the first page to the last, and may have it twice. A
--          cursor is invalid in another process, after a failover or a move of the slot
-- cost     O(a page of the state)

if not isStateOf(ARGV[1], ARGV[2], ARGV[3]) then
  return {}
end
local process = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if not process then
  return redis.error_reply('ERR INFO names no run_id, without which the keys of ' .. STATE .. ' cannot be read in pages')
end
local page = statePage(ARGV[4])
local present, expired = {}, {}
for i = 1, #page[2], 2 do
  local key = page[2][i]
  if string.sub(key, 1, #ARGV[5]) == ARGV[5] then
    -- As in ExpiringValues.
    local expires = string.match(page[2][i + 1], '^@(%d+) ')
    local keys = expires and tonumber(expires) <= tonumber(ARGV[6]) and expired or present
    keys[#keys + 1] = key
  end
end
return {process, page[1], present, expired}
