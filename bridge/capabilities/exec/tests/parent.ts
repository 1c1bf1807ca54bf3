// A minimal bridge: runs the command that it is given, and waits to be killed.
import { createExecHandlers } from '../exec-handlers.ts';
import { ProcessKeeper } from '../../../processes/process-keeper.ts';

const [home = '', command = '', ...args] = process.argv.slice(2);
const handlers = createExecHandlers({ home, keeper: new ProcessKeeper(() => {}) });
const call = { signal: new AbortController().signal, send: (_: string, { text }: { text: string }) => process.stdout.write(text) };
const { workingDir, hash } = await handlers['exec.resolve']({ command, args }, call);
await handlers['exec.run']({ command, args, workingDir, hash, timeoutMs: 600_000 }, call);
