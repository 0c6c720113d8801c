-- SPDX-FileCopyrightText: The capkit authors
--
-- SPDX-License-Identifier: Apache-2.0

-- Does in Neovim what somebody would do who edits profile.yaml, and writes what is to be seen there to a file.

local seen = { frames = {} }
-- What hangs ends after so many milliseconds.
local patience = 300000

-- frame notes what is on the screen, windows above others included, which nobody draws who has no terminal.
local function frame(title)
  vim.cmd('redraw!')
  local rows = {}
  for row = 1, vim.o.lines - 2 do
    rows[row] = {}
    for column = 1, vim.o.columns do rows[row][column] = vim.fn.screenstring(row, column) end
  end
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      local at, width = vim.api.nvim_win_get_position(window), vim.api.nvim_win_get_width(window)
      for i, text in ipairs(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)) do
        for column = 0, width + 1 do
          if rows[at[1] + i] then rows[at[1] + i][at[2] + column] = column == 0 and '│' or column > #text and ' ' or text:sub(column, column) end
        end
      end
    end
  end
  local lines = vim.tbl_map(function(row) return (table.concat(row):gsub('%s+$', '')) end, rows)
  table.insert(seen.frames, { title = title, lines = lines })
end

local function edit()
  vim.o.columns, vim.o.lines = 112, 22
  local id = vim.lsp.start_client({ name = 'capkit', cmd = { vim.env.CAPKIT, 'lsp' }, root_dir = vim.fn.getcwd() })
  vim.cmd('edit profile.yaml')
  vim.lsp.buf_attach_client(0, id)
  local function findings() return vim.diagnostic.get(0) end

  local function ask(method, params)
    local answers = assert(vim.lsp.buf_request_sync(0, method, params, patience), method .. ' is not answered')
    local answer = answers[id] or {}
    assert(not answer.err, method .. ' is refused')
    return answer.result
  end
  local function at(pattern, column)
    local line = vim.fn.search(pattern, 'cw')
    assert(line > 0, pattern .. ' is not there')
    vim.api.nvim_win_set_cursor(0, { line, column })
    return vim.lsp.util.make_position_params(0, 'utf-16')
  end

  assert(vim.wait(patience, function() return #findings() > 0 end, 10), 'nothing is found')
  for _, d in ipairs(findings()) do
    seen.diagnostics = seen.diagnostics or {}
    table.insert(seen.diagnostics, { line = d.lnum, column = d.col, code = d.code, message = d.message })
  end

  at('keyStoneURL', 5)
  vim.cmd('normal! zz')
  frame('what lint finds, while you type')
  local params = vim.lsp.util.make_range_params(0, 'utf-16')
  params.context = { diagnostics = {} }
  local actions = ask('textDocument/codeAction', params)
  seen.actions = vim.tbl_map(function(a) return a.title end, actions)
  vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
  vim.cmd('silent write')
  assert(vim.wait(patience, function() return #findings() == 0 end, 10), 'what is repaired is still found')

  frame('after its quick fix')

  seen.hover = ask('textDocument/hover', at('- name: medium_4_8', 12)).contents.value
  vim.cmd('normal! zz')
  vim.lsp.buf.hover()
  assert(vim.wait(patience, function() return #vim.api.nvim_list_wins() > 1 end, 10), 'nothing is shown')
  frame('what boots on a machine type')
  vim.cmd('normal! h')
  seen.definition = vim.tbl_map(function(l) return l.range.start.line end, ask('textDocument/definition', at('^    - version: 1877', 16)))
  local line = vim.fn.search('^      hypervisor: ', 'cw')
  vim.api.nvim_buf_set_lines(0, line - 1, line, false, { '      hy' })
  local list = ask('textDocument/completion', at('^      hy$', 8))
  seen.completion = vim.tbl_map(function(i) return i.label end, list.items)
  vim.cmd('silent edit!')
  vim.lsp.stop_client(id)
end

local fine, err = pcall(edit)
if not fine then seen.error = tostring(err) end
local file = io.open(vim.env.RESULT, 'w')
file:write(vim.fn.json_encode(seen))
file:close()
vim.cmd('qa!')
