import { chosenSection, specifiedSection } from './requirement.ts';

export const drivenBrowser = [
  specifiedSection('interface 1, section 4.1', {
    'browser/drive': 'Pages are opened, navigated, clicked, filled in, photographed, read and scripted, with the results of section 4.1.',
    'browser/tabs': 'Tabs are listed, focused and closed.',
    'browser/profiles': 'Profiles are listed, created and deleted, each with storage of its own that lasts.',
  }),
  chosenSection('decisions, "Devices, logs, system, usage, speech"', {
    'browser/by-itself': 'A call that needs a started browser starts it; tabs are called `tab-N`.',
    'browser/time-out': 'Opening a page and navigating time out after 30 s.',
    'browser/default-profile': '`profile` is `default` where it is left out.',
    'browser/preview': '`htmlPreview` has the first 2,000 characters.',
    'browser/errors': 'An element that is not there is NOT_FOUND, a selector that is none INVALID_PARAMS; scripts end in time.',
  }),
  chosenSection('the work on browser control', {
    'browser/accessibility':
      '`browser.snapshot` with `mode` `accessibility` names elements by refs that clicking and typing take; one that is gone is NOT_FOUND with a sentence that says why.',
    'browser/abort': 'A caller’s abort ends what the browser does for it.',
    'browser/killed':
      'A browser or a page that is killed during a call is told as that, and the next call has a new one; nothing is left running.',
    'browser/dialogs': 'Dialogs of pages are answered as `browser.dialogs` said; each is told in the next result.',
    'browser/downloads':
      'Downloads are told in the next result, handed out by `browser.download`, and stored in an agent’s workspace; what is larger than 8 MiB is cut off and told.',
    'browser/remote':
      'With `browser.cdpEndpoint` a Chrome elsewhere is driven over CDP; `browser.status` says so, its address is a secret, and what it downloads comes here.',
    'browser/loopback':
      'A person’s `browser.open` of a place on the bridge’s own computer waits for an approval, which adds the place to `browser.allow`.',
    'browser/agent-tools': 'Agents drive the browser by tools: a person is asked before one acts, and what a page says is data to them.',
    'browser/watch': '`browser.watch` shows a tab, or the current one, as it changes, to the connection that asked alone.',
    'browser/watch-slow':
      'One frame is on its way at most: the next comes once `browser.seen` has said that the last is here, five a second at the most; the last change is shown.',
    'browser/watch-ends': 'A view ends with the tab, the browser, its connection, and by `browser.unwatch`; `browser.unwatched` says why.',
    'browser/input': '`browser.input` does what a person does with mouse and keyboard; API keys and channels may not.',
    'browser/pictures': 'A picture that a tool takes is shown to a model that sees, and goes to the person with the reply.',
  }),
  chosenSection('quality, "Security"', {
    'browser/guard': 'The driven browser reaches no private place that the person has not named, by whatever way a page tries.',
    'browser/hostile-page': 'Whatever a page or its server does, the bridge stays up, and every call ends in time.',
  }),
];
