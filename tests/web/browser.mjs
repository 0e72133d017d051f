// browser.mjs - what Chromium makes of the status page: browser.mjs ADDRESS FOLDER NAME
//
// Each page is looked at in two widths and both colour schemes. On the page NAME `full` it also
// clicks, types and uses the keyboard.

import {readFileSync} from "node:fs";
import {chromium} from "playwright-core";

const [address, folder, name] = process.argv.slice(2);
const axe = readFileSync(`${folder}/node_modules/axe-core/axe.min.js`, "utf8");
let failed = false;

function check(what, good, got = "") {
    console.log(`${good ? "ok" : "not ok"} - ${name}: ${what}${good ? "" : ": " + got}`);
    failed ||= !good;
}

const browser = await chromium.launch({executablePath: "/usr/bin/chromium", args: ["--no-sandbox"]});

async function open(options) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    page.complaints = [];
    page.on("console", (said) => said.type() === "error" && page.complaints.push(said.text()));
    page.on("pageerror", (error) => page.complaints.push(String(error)));
    page.on("dialog", (dialog) => page.complaints.push(dialog.message()) && dialog.dismiss());
    await page.goto(address);
    return page;
}

async function audit(page, what) {
    const before = page.complaints.length;
    await page.evaluate(axe);
    const found = await page.evaluate(() => axe.run());
    page.complaints.length = before; // axe tries styles that the policy denies
    const faults = found.violations.map(
        (fault) => `${fault.id} (${fault.nodes.map((node) => node.target).join(" ")})`);
    check(`axe finds nothing, ${what}`, faults.length === 0, faults.join("; "));
}

for (const width of [375, 1440]) {
    for (const colorScheme of ["light", "dark"]) {
        const what = `${width} px, ${colorScheme}`;
        const page = await open({viewport: {width, height: 900}, colorScheme});
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        check(`it fits, ${what}`, wide <= width, `${wide} px`);
        await page.screenshot({path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true});
        const complaints = page.complaints.filter((text) => !/status of 503/.test(text));
        check(`the console is empty, ${what}`, complaints.length === 0, complaints.join("; "));
        await audit(page, what);
        await page.context().close();
    }
}
if (name === "full") {
    await use(await open({viewport: {width: 1440, height: 900}}));
}
await browser.close();
process.exit(failed ? 1 : 0);

async function use(page) {
    const text = (selector) => page.locator(selector).first().innerText();
    const now = () => page.getAttribute("main", "data-now");
    const refreshed = async () => {
        const before = await now();
        await page.waitForFunction(
            (then) => document.querySelector("main").dataset.now !== then, before);
    };
    await page.evaluate(() => window.first = document.querySelector("tbody tr"));
    await page.fill("input[name=prefix]", "half writ");
    await page.focus("input[name=prefix]");
    await refreshed();
    check("a refresh keeps the nodes", await page.evaluate(
        () => window.first === document.querySelector("tbody tr") && window.first.isConnected));
    check("a refresh keeps what is being typed, and the focus", await page.evaluate(
        () => document.activeElement.value === "half writ"));

    await page.getByRole("link", {name: "Questions", exact: true}).click();
    await page.waitForSelector("th[aria-sort=descending]");
    check("sorted by questions", (await text("tbody tr")).startsWith("articles"));
    check("the address says so", page.url().endsWith("?sort=-questions"), page.url());

    await page.fill("input[name=search]", "<script>");
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
    check("the search finds one while it is typed",
        (await text("tbody tr")).includes('"><script>alert(1)</script>'));
    await page.click("tbody tr a");
    await page.waitForSelector("#filter h2");
    check("the focus is on the filter's heading",
        await page.evaluate(() => document.activeElement.closest("#filter") !== null));
    await audit(page, "one filter");
    await page.getByRole("link", {name: "Close"}).press("Enter");
    await page.waitForFunction(() => document.activeElement.name === "search");
    check("closed, the focus is at the list", true);
    await page.goBack();
    await page.waitForSelector("#filter h2");
    await page.goBack();
    await page.waitForSelector("#filter", {state: "detached"});
    check("back closes the filter", (await page.locator("tbody tr").count()) === 1);
    const bytes = await open({});
    await bytes.goto(address + "/?filter=bad%FF%C3utf8"); // as if in a folder without a name
    const shown = await bytes.getAttribute("main", "data-now");
    await bytes.waitForFunction(
        (then) => document.querySelector("main").dataset.now !== then, shown);
    check("a refresh keeps the bytes of a name, in any folder",
        (await bytes.innerText("#filter")).includes("1,000 of"), await bytes.innerText("#filter"));
    await bytes.context().close();
    await page.fill("input[name=search]", "");
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 50);
    await page.getByRole("link", {name: "next"}).click();
    await page.waitForFunction(() => /51 to/.test(document.querySelector("nav").innerText));
    check("the next rows", true);

    await page.fill("input[name=prefix]", "key of");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#found");
    check("keys by their prefix", (await page.locator(".keys li").count()) === 11);
    await refreshed();
    check("a refresh keeps the keys", (await page.locator(".keys li").count()) === 11);
    await page.getByRole("link", {name: "Check the whole segment"}).click();
    await page.waitForSelector("#checked");
    await refreshed();
    check("the check's result stays", (await text("#checked")).includes("no fault"));
    await audit(page, "with all that can be opened");
    await page.screenshot({path: `${folder}/open.png`, fullPage: true});

    await page.focus("#pause");
    await page.keyboard.press("Enter");
    const paused = await now();
    await page.waitForTimeout(3000);
    check("it can be paused", paused === await now());
    await page.keyboard.press("Enter");
    await refreshed();
    check("and go on", true);
    check("the console is empty after all this", page.complaints.length === 0,
        page.complaints.join("; "));
}
