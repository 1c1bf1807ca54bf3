/** A tool server in one line, for steps that are taken wherever there is a `node`: it has one of each thing, and asks a person when its resources are listed. */
const SERVER_SCRIPT = `
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {}, resources: {}, prompts: {} }, serverInfo: { name: 'steps', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'say', description: 'Says something', inputSchema: { type: 'object' } }] }),
  'resources/list': () => ({ resources: [{ uri: 'step://one', name: 'One' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'one' }] }),
  'prompts/list': () => ({ prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }] }),
  'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Greet' } }] }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'resources/list')
    say({ id: 'a', method: 'elicitation/create', params: { message: 'Who?', requestedSchema: { type: 'object', properties: { who: { type: 'string' } } } } });
  if (id !== undefined && answers[method]) say({ id, result: answers[method](params ?? {}) });
});`;

export const MCP_SERVER_SETTINGS = { command: 'node', args: ['-e', SERVER_SCRIPT] };
