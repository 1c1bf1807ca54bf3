// A minimal bridge: lists the system engine's voices, and waits to be killed.
import { ProcessKeeper } from '../../../processes/process-keeper.ts';
import { createSystemEngines, listSystemVoices } from '../system-engines.ts';

await listSystemVoices(createSystemEngines(new ProcessKeeper(() => {}), 'linux'), new AbortController().signal);
