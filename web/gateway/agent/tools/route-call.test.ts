import { expect, test } from 'vitest';
import { parseCalledTool } from '../../providers/route-call.ts';

test.each([
  ['memory_stats', '{"name": "plan_create", "arg', 'memory_stats'],
  ['tool_call', '', 'tool_call'],
  ['tool_call', '{"name": "plan_cre', 'tool_call'],
  ['tool_call', '{"name": "plan_create', 'tool_call'],
  ['tool_call', '{"name": "plan_create"', 'plan_create'],
  ['tool_call', ' {\n  "name" : " plan_create ", "arguments": {"name": "Trip', 'plan_create'],
  ['tool_call', '{"name": "plan\\u005fcreate", ', 'plan_create'],
  ['tool_call', '{"arguments": {"name": "Trip"}', 'tool_call'],
  ['tool_call', '{"name": "\\x"', 'tool_call'],
  ['tool_call', '{"name": ""', 'tool_call'],
  ['tool_call', `{"name": "${'x'.repeat(1000)}"`, 'tool_call'],
])('%s with %s in progress means %s', (tool, json, meant) => {
  expect(parseCalledTool(tool, json)).toBe(meant);
});
