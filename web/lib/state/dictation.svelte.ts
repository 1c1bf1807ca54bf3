import { kept } from './kept.ts';

const KEY = 'dictation';

/** Whether the person agreed that this browser sends what the microphone hears to its maker. */
class Dictation {
  agreed = $state(kept.read(KEY) !== null);

  constructor() {
    kept.watch(KEY, (value) => (this.agreed = value !== null));
  }

  agree(): void {
    this.agreed = true;
    kept.write(KEY, 'sent');
  }

  takeBack(): void {
    this.agreed = false;
    kept.write(KEY, null);
  }
}

export const dictation = new Dictation();
