-- Reads texts for people that write-diagnostics.lua has written, or that others have left there.
--
-- KEYS     1 the hash, which need not exist
-- ARGV     1 most bytes of a text, 2 and more the names
-- result   the text of each, nil for none, '' in place of one that is too long
-- memory   needs none
-- cost     O(names), and the texts

local most = tonumber(ARGV[1])
local names = {unpack(ARGV, 2)}
local texts = redis.call('HMGET', KEYS[1], unpack(names))
for i, text in ipairs(texts) do
  if text and #text > most then
    texts[i] = ''
  end
end
return texts
