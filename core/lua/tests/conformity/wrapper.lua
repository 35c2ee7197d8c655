local function show(v) if type(v) == 'table' or type(v) == 'function' or type(v) == 'thread' then return type(v) end return tostring(v) end
local function all(...) local t = {} for i = 1, select('#', ...) do t[i] = show((select(i, ...))) end return t end
return all((function(...)
--SNIPPET--
end)(...))
