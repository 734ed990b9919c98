-- Lists the names of texts for people.
--
-- KEYS     1 the hash, which need not exist
-- ARGV     1 most names
-- result   the names, or an error if there are more
-- memory   needs none
-- cost     O(names)

local number = redis.call('HLEN', KEYS[1])
if number > tonumber(ARGV[1]) then
  return redis.error_reply('ERR the key ' .. KEYS[1] .. ' has ' .. number .. ' entries, far more than belong there; ' ..
    'remove it with DEL')
end
return redis.call('HKEYS', KEYS[1])
