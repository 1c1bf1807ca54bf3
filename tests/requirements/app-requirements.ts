import { chosenSection } from './requirement.ts';

/** The gateway's hosts in the browser, and the pages. */
export const app = [
  chosenSection('design.md, "One writer"', {
    'host/shared-worker': 'The gateway runs in a SharedWorker; a tab talks to it with no bridge.',
    'host/dedicated-worker': 'Where SharedWorker is missing a dedicated worker under a Web Lock serves.',
    'host/one-writer': 'Two hosts never own the data at once.',
    'host/new-build': 'A new build takes over from an old one: it drains, or after 30 s loses the lock; tabs reload.',
    'host/death-noticed': 'Tabs notice a dead worker at once and a frozen one within 3 s, and have a new one.',
    'host/killed-mid-run': 'A worker killed mid-run leaves one owner, the partial text, and runs no tool twice.',
    'host/uplink': 'With `--host tab` the worker of an open tab serves outside clients, and dials again with back-off.',
    'host/last-tab-closed': 'The last tab closed with no other host: 503 or an error within 1 s, never a hang.',
  }),
  chosenSection('ux.md; what a person can do', {
    'app/first-answer': 'The printed address opens a chat page that answers at once, and the code leaves the address bar.',
    'app/first-load': 'The chat page and its worker load at most 230 KB of script, headers too, before somebody can write.',
    'app/page-parts': 'A part of the page that cannot be fetched is told with a way to try again; what was sent is kept.',
    'app/found-message':
      'What a search finds in a chat leads to the message that fits best, in sight, also where that chat is open already.',
    'app/outbox': 'What a person sends waits in the browser until the gateway has it, and no reading of what waits loses it.',
    'app/queue':
      'What is sent while a reply runs waits above the message field, in order: it can be edited, removed, moved to the front, or sent into the reply; Stop holds it.',
    'app/compare':
      'Two or three models answer the same messages side by side, each in a chat of its own with its times, tokens and Stop; one can be gone on with.',
    'app/scroll':
      'The end of a reply that is written is followed until the reader moves up, by wheel, touch, keys or the bar; then nothing moves the view, a button leads back past 200 px, and the end pins again.',
    'app/tool-card':
      'The card of a tool is there from the first piece that the model writes of the call, and says what it was called with; while a command runs, what it writes is in sight as it comes.',
    'app/streams-and-stops': 'Text streams in; Stop stops and keeps the partial reply.',
    'app/versions':
      'Earlier versions of messages and replies are paged through by pointer and keys; other tabs follow, and the chat goes on there.',
    'app/reasoning':
      'What a model thinks shows as one line that opens, its newest words in sight while they come; it is there after a reload, and nothing in it runs.',
    'app/spent':
      'A reply says what it took in tokens and money, in full in its details; how full the model’s context is shows at a glance, with numbers and a way to summarise.',
    'app/more': 'A reply is copied as Markdown or plain text; a message has a link, and a new chat goes on from it.',
    'app/reload': 'History is there after a reload, also mid-stream.',
    'app/two-tabs': 'A second tab is in step with the first.',
    'app/offline': 'After the bridge is stopped the app opens and answers.',
    'app/browsers':
      'Chromium, stock Firefox and WebKitGTK run the same journeys: first answer, streaming, reload meanwhile, two tabs, settings, annotate and export, demo, offline.',
    'app/provider-settings': 'A base URL and key added on the page Models make a real model answer.',
    'app/upstream-settings':
      'How long models’ servers are waited for, and when one is left alone, is set in the settings, with the defaults in sight and a way back to them.',
    'browser.app/settings':
      'Private places that the driven browser may go to, and a browser elsewhere, are set in the settings with a way back to the default; a refused place leads there.',
    'app/resting': 'A provider whose server is left alone says so on the page Models, and can be tried at once.',
    'app/update-asks': 'A new version asks before it reloads.',
    'app/installable':
      'It can be installed: Chromium’s own check finds nothing, icons are there in their sizes, and each shortcut leads to a page.',
    'app/shared-to':
      'What is shared with it comes where it belongs, also without a network: pictures on the canvas, text and files in a new message, which is not sent. In a tab a person is asked first.',
    'app/file-handlers': 'A picture or a saved chat that the system opens with it comes to the canvas, or to the chats.',
    'app/notifies':
      'When no tab is in sight the system tells of ended replies and of approvals, once it was asked to by a button; a click opens the chat.',
    'app/contrast':
      'Contrast is as the system has it or more: text at 7:1, what is chosen seen by more than colour, also in the few colours of a system that forces its own.',
    'app/languages':
      'The app speaks the browser’s language or a chosen one, from right to left where that is so, also without a network; a change loses nothing.',
    'app/places': 'The palette finds pages and sections of the settings by their names, and opens them.',
    'app/badge': 'The installed app’s icon has the number of approvals that wait and of chats with something new.',
    'app/title': 'The title above a chat opens its menu, and is changed in place.',
    'app/composer': 'Model, thinking, parameters and memory are chosen at the message field, for a new chat before its first message.',
    'app/keeps-data': 'The browser is asked to keep the data at the first that is made; what it could not keep is told.',
    'app/fallback': 'Pages open without a network; what is the bridge’s own is neither answered from the cache nor kept in it.',
    'app/no-foreign-request': 'Rendering model output makes no foreign request and runs no script.',
    'rendering/code': 'Code has colours of its language, up to 50,000 characters.',
    'rendering/math':
      'Formulas are set, up to 10,000 characters each; those that cannot be, or define macros, are shown as they are written.',
    'rendering/diagrams':
      "Diagrams in Mermaid's language are drawn in a closed-off document and shown as pictures in the colours of the theme; those that cannot be, do not end or are too long are shown as they are written, with the reason.",
    'voice/read-aloud':
      "A reply is read aloud without mark-up and code, one at a time, by the browser's voices or the gateway's; a failure is a sentence with what to do.",
    'voice/choice': 'Voice and speed are chosen and tried in the settings, and kept in this browser.',
    'voice/dictation':
      'What is said is put at the caret where the browser can turn speech into words; a browser that sends the sound away is not used for it before the person agrees, which is taken back in the settings.',
    'artifacts/versions':
      'HTML and SVG of an answer open beside the chat, with the versions that later answers made of them; the newest is followed unless an older one is read.',
    'artifacts/use': 'An artifact’s code is read, copied and saved, its console is in sight, and it can be started anew.',
    'artifacts/sandbox':
      'An artifact runs without an origin: it comes to nothing of the app and to no network by any way, and its runaway scripts are stopped.',
    'artifacts/keys': 'Artifacts are opened, looked through and closed by keyboard, on phones too; the keyboard goes back where it was.',
    'artifacts/offline': 'Artifacts are shown without a network.',
    'rendering/large': 'A text too large for a history is shown whole, at once or when it is asked for.',
    'rendering/large-results': 'What a tool answered is shown and copied whole however long it is, fetched once its card is opened.',
    'rendering/pictures':
      'The address of a picture from elsewhere stands in its place; pressed, the picture is fetched by the bridge, under the rules of the web tool. Without a bridge it leads there.',
    'rendering/footnotes': 'Footnotes follow the text; a reference and its footnote lead to each other, within one reply.',
    'rendering/hostile': 'What is nested or repeated without end stays text, and the page alive.',
    'rendering/sanitized': 'Nothing in a text of others runs, styles, submits or loads from elsewhere on the page that shows it.',
    'rendering/composed-links': 'A link whose address the model composed after reading from outside shows it before it opens.',
    'rendering/directions':
      'Each paragraph, item and cell of a text runs as it begins, whatever language the page is in; code from left to right.',
    'rendering/streams': 'While an answer grows what is finished is left alone.',
    'app/crafted-link': 'No path, query or fragment makes the app connect anywhere but to its own origin, or run a script.',
    'chats.app/order':
      'Chats are pinned, archived, put into folders and tagged, one from its menu or several at once in their table, and stay so.',
    'chats.app/folders':
      'The sidebar lists chats by date or, where somebody wants it so, those in folders by folder; folders fold, and stay as they are left.',
    'chats.app/marks':
      'In the sidebar and in the table a chat shows that its reply waits for a person, is being written, or has not been read; in the sidebar also which agent answers, if not the main one.',
    'chats.app/select': 'The menu of a chat in the sidebar leads to where several are chosen at once, with that chat chosen.',
    'chats.app/table':
      'All chats are found by words, folder, tag, pinned or archived; one, those from one to another or all that fit are chosen, and deleted after a question.',
    'chats.app/export': 'A chat is saved as Markdown or JSON Lines, several in one zip.',
    'chats.app/import':
      'Chats of Perch, ChatGPT, Claude, Gemini, Open WebUI, LibreChat, LobeHub, Jan, LM Studio and OpenClaw are imported with their branches, pictures and times, each once.',
    'chats.app/import-bad':
      'A file that is cut short, of another kind, empty or hostile is refused by its name, and the others are brought in.',
    'usage.app/charts':
      'The page Usage shows totals and charts by day, hour, provider and model over a chosen span, each as a table too, and goes on by itself.',
    'usage.app/csv': 'What the page Usage shows is downloaded as CSV, in which no name can become a formula.',
    'logs.app/tail':
      'The page Logs shows lines as they are written, until it is paused; what is read stays where it is, and one button leads to the newest.',
    'logs.app/filter': 'Lines are found by level, part and words.',
    'logs.app/older':
      'Older lines than the first two thousand are loaded in front of what is read, which stays where it is; where a filter finds none among those read, on until one fits.',
    'logs.app/many': 'Of 10,000 lines only those in sight are in the page, and all are come to by scrolling and keys.',
    'logs.app/export':
      'All lines of the log that fit are saved as text or JSON lines, those not read yet too; no message can look like two.',
    'onboarding/doors':
      'While the guide answers, also where a server was found whose models nobody has chosen, the empty chat shows ways to a model of this machine and to one by its key; either ends with an answer of that model on screen.',
    'onboarding/skip':
      'The ways to a first model can be skipped, stay away then, and come back from the settings; nobody has to take one to write.',
    'models.app/list':
      'The page Models lists all models with context, prices and abilities, found by words and by what they can do, and sets a few side by side.',
    'models.app/answering': 'The default model and those that take over, in their order, are set there and hold for what is asked next.',
    'models.app/small': 'The model for titles and summaries is chosen there, and titles by a model are switched off.',
    'models.app/local': 'A model is downloaded there with its progress in sight, cancelled, gone on with, used and deleted.',
    'models.app/faults': 'What cannot be read or downloaded is told where it stands, with a way to try again.',
    'doctor.app/checks': 'The page Doctor shows each check with its state in words, the gravest first, and runs them again.',
    'doctor.app/fixes':
      'A fault that can be mended from the app has a button that mends it or leads to where it is mended, and the check is run again.',
    'agents.app/edit':
      'The page Agents lists agents with their model and tools, makes one by a form or from a starter, changes it and the order of the models that take over for it, has a chat with it, and removes it.',
    'channels.app/setup-x':
      'X is set up on its page: a wrong token is told, and the account’s owner allows direct messages and posts by a button that what is missing names.',
    'channels.app/setup':
      'The page Channels sets up those that this gateway can start, says how each is and what is wrong with it, switches them on and off, and removes them.',
    'plans.app/list': 'The page Plans shows each plan with its steps as they are done, goes on with one that is paused, and deletes one.',
    'skills.app/slash':
      'The list over the message field offers the skills of the agent beside the prompts, and puts the name of the one taken into the message.',
    'skills.app/list': 'The page Skills shows what agents can read up on, and why they are not told of one.',
    'browser.app/away':
      'A view that has ended is begun again by a button; while the bridge is away the page says so, and goes on by itself once it is back; without a link it says what to start.',
    'browser.app/watch':
      'The page Browser shows the current tab of the browser that agents drive as it changes, in its true shape, and says why where it does not; hidden it stops.',
    'browser.app/tabs':
      'Its tabs are opened, chosen and closed there, addresses opened and gone back from; profiles made, stopped and deleted.',
    'browser.app/wheel':
      'A person takes the wheel with mouse, keyboard, text that is composed or pasted, and touch, sees that they have it, and gives it back by a button or Shift+Esc.',
    'browser.app/annotate': 'What the browser shows becomes a drawing by one press.',
    'app/long-paste':
      'A long text that is pasted into a message becomes a file of it, which can be put into the text instead, and which the model reads.',
    'app/collections':
      'A folder dropped on the app can become a collection that the chat searches; answers cite its documents, and a citation opens at its place.',
    'app/attached':
      'A folder that is dropped on a chat gives the files within it; a file that is called a picture and is none is left out, and told.',
    'prompts.app/library':
      'The page Prompts makes a prompt, also from a starter, changes, duplicates, finds and deletes it; it is a file of the workspace, in step with other tabs.',
    'prompts.app/files': 'A prompt is a Markdown file that anybody can write; one that is odd is read as far as it can be.',
    'prompts.app/variables':
      'Variables of a prompt are asked for; date, time and clipboard are filled in, and what was copied is asked for where it cannot be had.',
    'prompts.app/slash':
      'A slash at the beginning of a message lists the prompts, found by typing, taken by keys, click or touch; what matches none is sent as it is.',
    'prompts.app/exchange':
      'Prompts are saved as JSON and brought in from it, and from Open WebUI’s export; a file that is none is refused.',
    'prompts.app/found': 'The search over the chats finds prompts too, from any page.',
    'backups.app/restore':
      'The page Backups makes a backup, with the keys under a passphrase or without, shows what bringing one back would change, and brings it back.',
    'backups.app/faults': 'A backup that cannot be used says why and is not brought back; a wrong passphrase is told where it was written.',
    'app/settings-search': 'The palette finds sections of the settings by their words; an address of one shows it, on whatever page it is.',
    'app/keys':
      'Shortcuts get other keys, or none, in the settings, and stay so; keys that could write something, or are taken, are refused.',
    'app/approval-keys': 'Keys allow or deny what waits in the chat that is open, and nothing that waits in another.',
    'app/console':
      'The page Console calls every method from its contract, with an example of its params, and shows the answer with its time and the frames as they go, without secrets.',
    'app/accessible': 'Everything works by keyboard, with labels, from 320 px up, light and dark.',
  }),
];
