import { safeLocalStorage } from './safe-local-storage.ts';

const STORAGE_KEY = 'dictation';

/** Consent that this browser sends speech from the microphone to its vendor. */
class Dictation {
  hasConsent = $state(safeLocalStorage.read(STORAGE_KEY) !== null);

  constructor() {
    safeLocalStorage.watch(STORAGE_KEY, (value) => (this.hasConsent = value !== null));
  }

  grantConsent(): void {
    this.hasConsent = true;
    safeLocalStorage.write(STORAGE_KEY, 'sent');
  }

  revokeConsent(): void {
    this.hasConsent = false;
    safeLocalStorage.write(STORAGE_KEY, null);
  }
}

export const dictation = new Dictation();
