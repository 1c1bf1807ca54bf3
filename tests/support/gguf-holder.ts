// A program in place of the bridge: loads a model, prints the runner's pid, and keeps running.
import { ProcessKeeper } from '../../bridge/processes/process-keeper.ts';
import { OptionalPackage } from '../../bridge/extras/extra.ts';
import { createGgufExtra } from '../../bridge/extras/gguf-extra.ts';
import { EXTRAS_HOME } from './gguf-extra.ts';
import { createGgufHome } from './gguf-home.ts';

const at = createGgufHome(new OptionalPackage(createGgufExtra(), { home: EXTRAS_HOME, keeper: new ProcessKeeper(() => {}) }));
at.add();
await at.generate();
process.stdout.write(`${JSON.stringify({ home: at.home, pid: at.gguf.pid })}\n`);
setInterval(() => {}, 60_000);
