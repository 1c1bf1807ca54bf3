// A minimal bridge: lists the system engine's voices, and waits to be killed.
import { Keeper } from '../../../processes/keep.ts';
import { systemEngines, systemVoices } from '../system.ts';

await systemVoices(systemEngines(new Keeper(() => {}), 'linux'), new AbortController().signal);
