import { chosenSection } from './requirement.ts';

/** Secrets that the configuration refers to by name. */
export const secrets = [
  chosenSection('quality, "Secrets"; decisions, "Sessions, agents, models, channels, config"', {
    'secrets/reference': 'In the place of a secret `${NAME}` may stand: `config.get` shows it, and the value is what is used.',
    'secrets/places':
      'Values come from the bridge’s environment, then from `secrets.env` in its home, then from the system’s keyring, and only those that are named.',
    'secrets/memory-only': 'A value is kept in memory alone.',
    'secrets/reload': '`secrets.reload` asks for all values anew; one that has changed ends what was decided by the old one.',
    'secrets/attach': 'Values are asked for at the start, and when a bridge is attached.',
    'secrets/missing': 'A name without a value is told by a clear error and by the doctor, and no server is asked without its key.',
    'secrets/own': 'No reference can name `PERCH_…`.',
    'secrets/moved': 'A reference does not follow its provider to another server.',
    'secrets/hidden': 'Values stand in no log, of the core or of the bridge.',
    'secrets/file-refused': '`secrets.env` is used only where it is its owner’s alone and each line of it is an entry; else why is told.',
    'secrets/command':
      '`perch secrets set`, `list` and `remove` keep secrets in the keyring, or else in `secrets.env`; no value is printed, or stands in a process list.',
    'secrets/vault-key':
      '`perch secrets keyring on` moves the vault’s own key from its file into a keyring that lasts, once it was read back from there; `off` moves it back. Where it cannot be read, nothing starts, within two seconds, and no new key is made.',
    'secrets/keyring-hangs': 'A keyring that never answers holds nothing up, and nothing of it is left running.',
    'secrets/file-keeps-reference': 'The configuration file holds the reference, never the value.',
  }),
];
