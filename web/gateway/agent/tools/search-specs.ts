import type { ToolSpec } from '../../providers/provider.ts';
import { TOOL_CALL, TOOL_SEARCH } from '../../storage/records/routed-call.ts';

/** Label in the app. */
export const SEARCH_LABEL = { title: 'Search tools', summary: 'Finds tools for a task.' };

/** The two tools by which a model reaches all others. Both are constant, because every prompt starts with the tools of a request. */
export const SEARCH_SPECS: readonly ToolSpec[] = [
  {
    name: TOOL_SEARCH,
    description:
      'Finds more tools for what you need to do: use a browser, see the screen, draw on images, schedule, plan, keep a wiki, manage memory and files, and everything from connected services (MCP servers). Search before you say that you can’t do something.',
    schema: {
      type: 'object',
      properties: { query: { type: 'string', description: 'A few English words, such as "click a button on a web page"' } },
      required: ['query'],
    },
  },
  {
    name: TOOL_CALL,
    description: 'Calls a tool that tool_search found.',
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Tool name' },
        arguments: { type: 'object', description: 'Its arguments, as its schema says' },
      },
      required: ['name', 'arguments'],
    },
  },
];
