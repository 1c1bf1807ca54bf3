// A separate program that runs one GGUF model, so that a malicious file can only harm this process.
import { serveCalls } from '#shared/link/port-calls.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { createProcessLink } from '../browser/process-link.ts';
import type { LlamaModule } from './llama-types.ts';
import { LoadedModel } from './loaded-model.ts';
import { runnerPort } from './runner-port.ts';

const sendMessage = (line: string): void => void process.stderr.write(`${line.replaceAll('\n', ' ')}\n`);
const [entry = ''] = process.argv.slice(2);

let loaded: LoadedModel | undefined;
let activeRun = new AbortController();
const model = (): LoadedModel => {
  if (!loaded) throw new RpcError('INTERNAL_ERROR', 'No model is loaded');
  return loaded;
};

process.on('disconnect', () => process.exit());
const port = serveCalls<typeof runnerPort.calls, typeof runnerPort.events>(
  createProcessLink(process),
  runnerPort.calls,
  {
    'run.load': async (options) => {
      loaded = await LoadedModel.load((await import(entry)) as LlamaModule, options);
      return { contextSize: loaded.contextSize };
    },
    'run.generate': (request) => {
      activeRun = new AbortController();
      return model().generate(request, activeRun.signal, (text, thought) => port.send('run.text', { text, thought }));
    },
    'run.embed': ({ texts }) => {
      activeRun = new AbortController();
      return model().embed(texts, activeRun.signal);
    },
    'run.cancel': () => {
      activeRun.abort(new RpcError('ABORTED', 'Cancelled'));
      return Promise.resolve({});
    },
  },
  { fault: (error) => sendMessage(`gguf: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`) },
);
