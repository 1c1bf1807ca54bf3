// Runs as a separate process that a test can kill: `node parent.ts <executable> <profile> <origin>`.
import { ManagedChromium } from '../managed-chromium.ts';

const [, , executable = '', profile = '', origin = ''] = process.argv;
await ManagedChromium.start({
  executable,
  profile,
  origin,
  credential: () => ({ id: 'parent', secret: 'hidden' }),
  log: (line) => console.error(line),
});
