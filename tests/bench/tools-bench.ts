import { createAgents } from '../../web/gateway/agent/agents.ts';
import { settingsSchema } from '../../web/gateway/config/settings-schema.ts';
import { toOffer } from '../../web/gateway/agent/tools/tool-offer.ts';
import type { Tool } from '../../web/gateway/agent/tools/tool-registry.ts';
import { searchTools } from '../../web/gateway/agent/tools/tool-search.ts';
import { countTokens } from '../../web/gateway/providers/tokens/count-tokens.ts';
import { createTestGateway } from '../support/test-gateway.ts';
import { toMinBar, toMaxBar, type Figure } from './figures.ts';
import { HELD_OUT_TASKS, SERVER_TOOLS, TOOL_TASKS, type ToolTask } from './tool-tasks.ts';

const MODEL = 'openai/gpt-5';

interface SearchResult {
  task: ToolTask;
  /** Tool names for models, best result first. */
  foundTools: string[];
}

const isRight = ({ task, foundTools }: SearchResult): boolean => foundTools.some((name) => task.tools.includes(name));

/** Tokens of the tools in each request, and the hit rate of the search for deferred tools (NOTES.md, "Tools"). */
export async function benchTools(): Promise<Figure[]> {
  const own = await readCatalog();
  const all = [...own, ...SERVER_TOOLS.map(toServerTool)];
  const main = createAgents(() => settingsSchema.parse({})).get('main');
  const offer = toOffer(all, main);
  const inView = new Set(offer.tools.map(({ name }) => name));
  const search = (tasks: readonly ToolTask[]): SearchResult[] =>
    tasks.map((task) => ({ task, foundTools: searchTools(all, task.request).map(({ name, modelName = name }) => modelName) }));
  const [results, later] = [search(TOOL_TASKS), search(HELD_OUT_TASKS)];
  const isInView = ({ task }: SearchResult): boolean => task.tools.some((name) => inView.has(name));
  const needSearch = results.filter((result) => !isInView(result));
  for (const { task, foundTools } of [...results, ...later].filter((result) => !isRight(result)))
    console.error(`not found: "${task.request}" needs ${task.tools.join(' or ')}; found ${foundTools.join(', ') || 'nothing'}`);
  const before = await countJson(own.map(({ name, description, schema }) => toFunction({ name, description, schema })));
  const now = await countJson(offer.tools.map(toFunction));
  const first = results.filter(({ task, foundTools: [name = ''] }) => task.tools.includes(name)).length;
  return [
    {
      what: 'tools in each request',
      unit: 'tokens',
      ours: now,
      floor: { name: 'all tools', value: before },
      bar: toMaxBar(now, 2500, 'tokens'),
    },
    { what: '  number of them', unit: '', ours: offer.tools.length, floor: { name: 'all tools', value: own.length } },
    toRateFigure('tasks whose tool the search finds', results),
    toRateFigure('  of those that need a tool outside the default set', needSearch),
    { what: '  as the first result', unit: '', ours: first, floor: { name: 'of', value: results.length } },
    toRateFigure('tasks written later whose tool is in the default set or found', later, (each) => isInView(each) || isRight(each)),
    { what: '  found by the search', unit: '', ours: later.filter(isRight).length, floor: { name: 'of', value: later.length } },
  ];
}

function toRateFigure(what: string, results: readonly SearchResult[], isGood = isRight): Figure {
  const percent = (100 * results.filter(isGood).length) / results.length;
  return { what, unit: '%', ours: percent, floor: { name: 'of', value: results.length }, bar: toMinBar(percent, 95, '%') };
}

/** A tool in the format that most providers use. */
const toFunction = ({ name, description, schema }: { name: string; description: string; schema: object }): object => ({
  type: 'function',
  function: { name, description, parameters: schema },
});

const countJson = (value: unknown): Promise<number> => countTokens(JSON.stringify(value), MODEL);

async function readCatalog(): Promise<Tool[]> {
  await using gateway = await createTestGateway();
  const { client } = await gateway.client();
  const { tools: list } = await client.call('tools.catalog', {});
  return list.map(({ title = '', summary = '', schema = {}, ...tool }) => ({
    ...tool,
    title,
    summary,
    schema,
    effect: () => undefined,
    run: failUnexpectedCall,
  }));
}

const toServerTool = ({ server, name, description, properties }: (typeof SERVER_TOOLS)[number]): Tool => ({
  name: `mcp:${server}:${name}`,
  modelName: `mcp__${server}__${name}`,
  title: name,
  summary: description,
  description,
  source: `mcp:${server}`,
  schema: {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([key, about]) => [key, { type: 'string', description: about }])),
  },
  run: failUnexpectedCall,
});

const failUnexpectedCall = (): Promise<never> => Promise.reject(new Error('The benchmark runs no tools.'));
