import { describe, expect, it } from 'vitest';
import { toModelSchema } from './model-schema.ts';
import { toOffer } from './tool-offer.ts';
import type { Tool } from './tool-registry.ts';
import { routeCall } from '../../providers/route-call.ts';
import { toOriginalCall, toOriginalBranch } from '../../storage/records/routed-call.ts';
import { runToolSearch, searchTools } from './tool-search.ts';

const tool = (name: string, rest: Partial<Tool> = {}): Tool => ({
  ...{ name, title: name, summary: '', description: `Does ${name}`, source: 'core', schema: { type: 'object', properties: {} } },
  run: () => Promise.resolve(null),
  ...rest,
});
const served = (server: string, name: string): Tool =>
  tool(`mcp:${server}:${name}`, { modelName: `mcp__${server}__${name}`, source: `mcp:${server}` });
const big = (name: string): Tool => tool(name, { description: 'long '.repeat(500) });

const agent = (config: object = {}) => ({
  ...{ id: 'main', name: 'Main', model: undefined, fallbacks: [], systemPrompt: undefined, parameters: {} },
  config,
});
const names = (tools: readonly { name: string }[]): string[] => tools.map(({ name }) => name);

describe('an offer', () => {
  const many = [big('browser_open'), big('canvas_draw'), big('desktop_windows'), big('wiki_read'), big('wiki_write'), tool('file_read')];

  it('has the default tools and the search; the others are deferred', () => {
    const { tools, deferred } = toOffer(many, agent());
    expect(names(tools)).toEqual(['file_read', 'tool_search', 'tool_call']);
    expect(names(deferred)).toEqual(['browser_open', 'canvas_draw', 'desktop_windows', 'wiki_read', 'wiki_write']);
  });

  it('is the same whether MCP servers run or not', () => {
    const { tools } = toOffer([...many, served('a', 'do')], agent());
    expect(tools).toEqual(toOffer(many, agent()).tools);
    expect(names(toOffer([tool('file_read'), served('a', 'do')], agent()).tools)).toEqual(['file_read', 'tool_search', 'tool_call']);
    expect(names(toOffer([tool('file_read')], agent()).tools)).toEqual(['file_read', 'tool_search', 'tool_call']);
  });

  it('has all tools at once if they are few, without a search if no others can come', () => {
    const few = [tool('browser_open'), tool('wiki_read')];
    expect(names(toOffer(few, agent({ tools: { allow: ['browser_*', 'wiki_*'] } })).tools)).toEqual(['browser_open', 'wiki_read']);
    expect(names(toOffer(few, agent(), ['browser_open', 'wiki_read']).tools)).toEqual(['browser_open', 'wiki_read']);
    for (const pattern of ['*', 'm*', 'mcp:*', 'mcp:a:do'])
      expect(names(toOffer(few, agent({ tools: { allow: [pattern] } })).tools)).toContain('tool_search');
    expect(names(toOffer([], agent({ tools: { allow: [] } })).tools)).toEqual([]);
  });

  it('has the groups of the agent; tools of a server stand at the end', () => {
    const { tools, deferred } = toOffer([...many, served('a', 'do'), served('b', 'do')], agent({ toolGroups: ['wiki', 'mcp:a'] }));
    expect(names(tools)).toEqual(['wiki_read', 'wiki_write', 'tool_search', 'tool_call', 'mcp__a__do']);
    expect(names(deferred)).toContain('mcp__b__do');
    expect(names(toOffer([...many, served('a', 'do')], agent({ toolGroups: ['*'] })).tools)).toEqual([...names(many), 'mcp__a__do']);
  });
});

describe('the search', () => {
  const all = [
    tool('file_read', { title: 'Read file' }),
    big('browser_click'),
    big('wiki_read'),
    big('wiki_write'),
    big('canvas_draw'),
    served('github', 'createIssue'),
  ];

  it('finds tools by their names, other words for them, and other languages', () => {
    for (const [query, name] of [
      ['press the button', 'browser_click'],
      ['Knopf drücken', 'browser_click'],
      ['描いて', 'canvas_draw'],
      ['create an issue', 'mcp:github:createIssue'],
      ['browser_click', 'browser_click'],
    ] as const)
      expect(searchTools(all, query)[0]?.name).toBe(name);
  });

  it('gives the schemas of deferred tools, and names if nothing matches', () => {
    const find = (query: unknown) => runToolSearch(all, { agent: agent() }, { query });
    expect(find('read file')).toMatchObject({ tools: [{ name: 'file_read' }, { name: 'wiki_read', parameters: { type: 'object' } }] });
    expect(find('read file')).not.toMatchObject({ tools: [{ parameters: {} }, {}] });
    expect(find('xyzzy')).toMatchObject({
      tools: [],
      names: ['browser_click', 'wiki_read', 'wiki_write', 'canvas_draw', 'mcp__github__createIssue'],
    });
    expect(() => find(' ')).toThrow('`query` is required');
    expect(() => find(5)).toThrow('`query` is required');
  });
});

describe('a call of tool_call', () => {
  const call = (args: Record<string, unknown>) => ({ id: '1', tool: 'tool_call', args });

  it.each([
    [{ name: 'a', arguments: { b: 1 } }, { b: 1 }],
    [{ arguments: { b: 1 }, name: 'a' }, { b: 1 }],
    [{ name: ' a ', arguments: '{"b":1}' }, { b: 1 }],
    [{ name: 'a', b: 1 }, { b: 1 }],
    [{ name: 'a' }, {}],
    [{ name: 'a', arguments: '' }, {}],
  ])('%j becomes a call of the tool, and is repeated as it was', (args, expected) => {
    const { call: routed, unread } = routeCall(call(args));
    expect(routed).toMatchObject({ id: '1', tool: 'a', args: expected });
    expect(unread).toBeUndefined();
    expect(JSON.stringify(toOriginalCall(routed))).toBe(JSON.stringify(call(args)));
  });

  it('keeps no second copy of arguments that it can write again', () => {
    expect(routeCall(call({ name: 'a', arguments: { b: 1 } })).call.via).toEqual({ tool: 'tool_call' });
  });

  it.each([[{}], [{ name: 5 }], [{ name: 'tool_call', arguments: {} }], [{ name: 'a', arguments: [1] }], [{ name: 'a', arguments: '{' }]])(
    '%j cannot be read',
    (args) => {
      const { call: routed, unread } = routeCall(call(args));
      expect(unread).toContain('must be');
      expect(JSON.stringify(toOriginalCall(routed))).toBe(JSON.stringify(call(args)));
    },
  );

  it('names results after what was called', () => {
    const { call: routed } = routeCall(call({ name: 'a', arguments: {} }));
    const direct = { id: '2', tool: 'b', args: {} };
    const branch = [{ toolCalls: [routed, direct] }, { toolCallId: '1', name: 'a' }, { toolCallId: '2', name: 'b' }];
    expect(toOriginalBranch(branch)).toEqual([
      { toolCalls: [call({ name: 'a', arguments: {} }), direct] },
      { toolCallId: '1', name: 'tool_call' },
      { toolCallId: '2', name: 'b' },
    ]);
  });
});

it('schemas for models leave out limits, and no parameter that has the name of one', () => {
  expect(
    toModelSchema({
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1, maxLength: 5, pattern: '^a', default: '' },
        count: { type: 'integer', minimum: 0, maximum: 50, default: 5 },
        list: { type: 'array', maxItems: 3, default: [], items: { type: 'number', maximum: 9_007_199_254_740_991 } },
      },
      required: ['pattern'],
      additionalProperties: false,
    }),
  ).toEqual({
    type: 'object',
    properties: {
      pattern: { type: 'string' },
      count: { type: 'integer', maximum: 50, default: 5 },
      list: { type: 'array', items: { type: 'number' } },
    },
    required: ['pattern'],
  });
});
