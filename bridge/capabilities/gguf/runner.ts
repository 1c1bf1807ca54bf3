// A separate program that runs one GGUF model, so that a malicious file can only harm this process.
import { answer } from '#shared/link/calls.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { processLink } from '../browser/process-link.ts';
import type { LlamaModule } from './llama.ts';
import { LoadedModel } from './loaded-model.ts';
import { runnerPort } from './runner-port.ts';

const say = (line: string): void => void process.stderr.write(`${line.replaceAll('\n', ' ')}\n`);
const [entry = ''] = process.argv.slice(2);

let loaded: LoadedModel | undefined;
let underWay = new AbortController();
const model = (): LoadedModel => {
  if (!loaded) throw new RpcError('INTERNAL_ERROR', 'No model is loaded');
  return loaded;
};

process.on('disconnect', () => process.exit());
const port = answer<typeof runnerPort.calls, typeof runnerPort.events>(
  processLink(process),
  runnerPort.calls,
  {
    'run.load': async (wanted) => {
      loaded = await LoadedModel.load((await import(entry)) as LlamaModule, wanted);
      return { contextSize: loaded.contextSize };
    },
    'run.generate': (request) => {
      underWay = new AbortController();
      return model().generate(request, underWay.signal, (text, thought) => port.send('run.text', { text, thought }));
    },
    'run.embed': ({ texts }) => {
      underWay = new AbortController();
      return model().embed(texts, underWay.signal);
    },
    'run.cancel': () => {
      underWay.abort(new RpcError('ABORTED', 'Cancelled'));
      return Promise.resolve({});
    },
  },
  { fault: (error) => say(`gguf: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`) },
);
