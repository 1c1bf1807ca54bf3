// A program in place of the bridge: loads a model, prints the runner's pid, and keeps running.
import { Keeper } from '../../bridge/processes/keep.ts';
import { Extra } from '../../bridge/extras/extra.ts';
import { ggufExtra } from '../../bridge/extras/gguf.ts';
import { extrasHome } from './gguf-extra.ts';
import { ggufHome } from './gguf-home.ts';

const at = ggufHome(new Extra(ggufExtra(), { home: extrasHome, keeper: new Keeper(() => {}) }));
at.add();
await at.ask();
process.stdout.write(`${JSON.stringify({ home: at.home, pid: at.gguf.pid })}\n`);
setInterval(() => {}, 60_000);
